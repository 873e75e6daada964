"""Bytes and what is known of them: uploads, the library of a user, versions, scans."""
