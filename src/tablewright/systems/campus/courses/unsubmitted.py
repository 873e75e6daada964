"""Rows of students who handed in nothing and are graded all the same, such as after an oral exam.

Such a row has the number 0: it does not count as an attempt, is never late, and is behind the first real
attempt in every order by number. Elsewhere: who makes it (grading/hand_grades.py).
"""

from tablewright.systems.campus.course_model import Submission

BY_HAND = 0


def handed_in(submission: Submission) -> bool:
    """Whether this is an attempt of its student or team."""
    return submission.submission_number != BY_HAND
