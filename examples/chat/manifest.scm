((program "room.scm"))
