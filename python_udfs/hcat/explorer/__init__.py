"""Pages without a server: the explorer of a build and the desk where people rate, each one HTML file."""
