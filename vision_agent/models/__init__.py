"""The deciders: models, step lines, a person, a script. Only this package imports providers' client libraries."""
