"""Rolling updates: how another checkpoint becomes the default without a failed request, and back."""
