"""Text that people and pages write, read and shown safely: escaping, addresses, amounts of money, disguised values."""
