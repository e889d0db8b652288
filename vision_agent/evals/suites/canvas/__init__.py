"""CanvasBench: tasks on applications that draw with other projects' libraries, judged by the library's own objects."""
