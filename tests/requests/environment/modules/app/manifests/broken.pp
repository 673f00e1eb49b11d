class app::broken( {
