"""Who decides: a model, plain step lines, a person, a script. Only this room knows a provider's client."""
