# An absolute path.
type Webserver::Path = Pattern[/\A\/[^\0]*\z/]
