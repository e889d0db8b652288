"""Records a takeover: what a person does in the browser, as actions on marks."""
