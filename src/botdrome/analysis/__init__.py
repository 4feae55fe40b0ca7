"""What a position and a move are worth: playouts by house bots, blunders, position files."""
