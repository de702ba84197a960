"""Statistics on arrays that every room shares: intervals, several tests at once, clusters, surveys."""
