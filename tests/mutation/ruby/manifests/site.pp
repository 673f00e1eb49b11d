node default {
  include plug
}
