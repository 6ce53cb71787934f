"""What lenses and sensors do to views and disparity."""
