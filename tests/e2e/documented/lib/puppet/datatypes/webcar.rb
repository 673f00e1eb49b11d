# @summary A car.
# @param color of it
Puppet::DataTypes.create_type('WebCar') do
  interface <<-PUPPET
    attributes => {
      color => String,
      wheels => { type => Integer, value => 4 },
    },
    functions => {
      drive => Callable[[Integer, String], Boolean]
    }
  PUPPET
  implementation { }
end
