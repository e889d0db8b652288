"""A local web page that lists the runs of a folder, and starts, follows, compares and deletes them."""
