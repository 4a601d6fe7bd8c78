"""What a person's own device remembers: one budget, in a file for all processes or in memory for one."""
