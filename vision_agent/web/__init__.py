"""What the web pages that the product serves share: the server on loopback, the live view, the colours."""
