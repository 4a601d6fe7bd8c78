"""What follows from sums of products of columns: regression, correlations, components."""
