"""What follows from what: the pure rules of sessions, turns, trees and answers."""
