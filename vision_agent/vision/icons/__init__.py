"""Names for icons from their pixels, as guesses: `trash`, `settings`, or nothing."""
