plan app::x (
  String $a,
) {
  return $a
}
