"""Words for a person: what an action does, and what tells marks of the same name apart."""
