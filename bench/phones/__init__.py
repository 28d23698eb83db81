"""What phones cost: calls to them, video, frames, trees, pools, and the virtual phone itself."""
