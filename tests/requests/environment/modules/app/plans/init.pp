plan app () {
  return 1
}
