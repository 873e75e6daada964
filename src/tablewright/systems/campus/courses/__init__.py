"""Courses, their people and teams, assignments and submissions."""
