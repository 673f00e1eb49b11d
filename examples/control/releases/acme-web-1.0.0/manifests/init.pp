# What every web server has.
class web {
  notify { 'a web server': }
}
