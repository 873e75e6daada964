"""Files of users: uploads, versions, scans, downloads and the trash."""
