"""The public functions, as `instrc` exports them."""
