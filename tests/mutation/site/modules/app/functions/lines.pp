# Settings as lines.
function app::lines(Hash $settings) >> Array[String] {
  $settings.map |$key, $value| { "${key}=${value}" }
}
