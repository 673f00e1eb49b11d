# frozen_string_literal: true
# The libraries of Puppet 8.11 and Facter 4.11, by folder. If code requires one of them, Bunraku
# already provides it. Any other name below puppet/ and facter/ must be found in a module or on
# Ruby's load path.

module Bunraku
  module OwnLibraries
    LIST = <<~TEXT
      facter: config version
      facter/custom_facts/core: aggregate directed_graph execution file_loader legacy_facter resolvable suitable
      facter/custom_facts/core/execution: base popen3 posix windows
      facter/custom_facts/util: collection composite_loader config confine directory_loader fact loader normalization
        nothing_loader parser resolution unix_root values windows_root
      facter/framework/benchmarking: timer
      facter/framework/cli: cli cli_launcher
      facter/framework/config: config_reader fact_groups
      facter/framework/core: cache_manager fact_filter fact_manager file_loader options session_cache
      facter/framework/core/fact/external: external_fact_manager
      facter/framework/core/fact/internal: core_fact internal_fact_manager
      facter/framework/core/fact_loaders: class_discoverer external_fact_loader fact_loader internal_fact_loader
      facter/framework/core/options: config_file_options option_store options_validator
      facter/framework/detector: os_detector os_hierarchy
      facter/framework/formatters: formatter_factory formatter_helper hocon_fact_formatter json_fact_formatter
        legacy_fact_formatter yaml_fact_formatter
      facter/framework/logging: logger logger_helper
      facter/framework/parsers: query_parser
      facter/models: fact_collection loaded_fact resolved_fact searched_fact
      facter/util: api_debugger file_helper utils
      facter/util/aix: info_extractor odm_query
      facter/util/facts: facts_utils unit_converter uptime_parser windows_release_finder
      facter/util/facts/posix: virtual_detector
      facter/util/linux: dhcp if_inet6 proc routing_table socket_parser
      facter/util/macosx: system_profile_executor
      facter/util/resolvers: aws_token filesystem_helper fingerprint http ssh ssh_helper uptime_helper
      facter/util/resolvers/ffi: hostname load_averages
      facter/util/resolvers/networking: dhcp networking primary_interface
      facter/util/windows: win32ole
      puppet: agent application application_support coercion compilable_resource_type concurrent configurer confine
        confine_collection confiner context daemon data_binding datatypes defaults environments error etc face facter_impl
        file_bucket file_serving file_system forge functions graph http indirector info_service interface loaders module
        module_tool network node parameter parser plugins pops property provider relationship reports resource runtime
        scheduler settings ssl syntax_checkers thread_local transaction trusted_external type util vendor version x509
      puppet/agent: disabler locker
      puppet/application: agent apply catalog config describe device doc epp face_base facts filebucket generate help
        indirection_base lookup module node parser plugin report resource script ssl
      puppet/concurrent: lock synchronized thread_local_singleton
      puppet/configurer: downloader fact_handler plugin_handler
      puppet/confine: any boolean exists false feature true variable
      puppet/context: trusted_information
      puppet/datatypes: error
      puppet/datatypes/impl: error
      puppet/external: dot
      puppet/face: catalog config epp facts generate help module node parser plugin report resource
      puppet/face/catalog: select
      puppet/face/module: changes install list uninstall upgrade
      puppet/face/node: clean
      puppet/feature: base bolt cfpropertylist eventlog hiera_eyaml hocon libuser msgpack pe_license pson selinux ssh
        telnet zlib
      puppet/ffi: posix windows
      puppet/ffi/posix: constants functions
      puppet/ffi/windows: api_types constants functions structs
      puppet/file_bucket: dipper file
      puppet/file_serving: base configuration content fileset http_metadata metadata mount terminus_helper
        terminus_selector
      puppet/file_serving/configuration: parser
      puppet/file_serving/mount: file locales modules pluginfacts plugins scripts tasks
      puppet/file_system: file_impl jruby memory_file memory_impl path_pattern posix uniquefile windows
      puppet/forge: cache errors repository
      puppet/functions: abs alert all annotate any assert_type binary_file break call camelcase capitalize ceiling chomp
        chop compare contain convert_to crit debug defined dig downcase each emerg empty epp err eyaml_lookup_key filter
        find_file find_template flatten floor get getvar group_by hiera hiera_array hiera_hash hiera_include hocon_data
        import include index info inline_epp join json_data keys length lest lookup lstrip map match max min
        module_directory new next notice partition reduce regsubst require return reverse_each round rstrip scanf size
        slice sort split step strftime strip then tree_each type unique unwrap upcase values versioncmp warning with
        yaml_data
      puppet/generate: type
      puppet/generate/models/type: property type
      puppet/gettext: config module_translations stubs
      puppet/graph: key prioritizer rb_tree_map relationship_graph sequential_prioritizer simple_graph
      puppet/http: client dns errors external_client factory pool pool_entry proxy redirector resolver response
        response_converter response_net_http retry_after_handler service session site
      puppet/http/resolver: server_list settings srv
      puppet/http/service: ca compiler file_server puppetserver report
      puppet/indirector: code direct_file_server envelope errors exec face fact_search file_content file_metadata
        file_server generic_http hiera indirection json memory msgpack none plain request rest store_configs terminus yaml
      puppet/indirector/catalog: compiler json msgpack rest store_configs yaml
      puppet/indirector/data_binding: hiera none
      puppet/indirector/facts: facter json memory network_device rest store_configs yaml
      puppet/indirector/file_bucket_file: file rest selector
      puppet/indirector/file_content: file file_server rest selector
      puppet/indirector/file_metadata: file file_server http rest selector
      puppet/indirector/node: exec json memory msgpack plain rest store_configs yaml
      puppet/indirector/report: json msgpack processor rest yaml
      puppet/indirector/resource: ral store_configs validator
      puppet/info_service: class_information_service plan_information_service task_information_service
      puppet/interface: action action_builder action_manager documentation face_collection option option_builder
        option_manager
      puppet/metatype: manager
      puppet/module: plan task
      puppet/module_tool: applications checksums contents_description dependency errors install_directory
        installed_modules local_tarball metadata shared_behaviors tar
      puppet/module_tool/applications: application checksummer installer uninstaller unpacker upgrader
      puppet/module_tool/errors: base installer shared uninstaller upgrader
      puppet/module_tool/tar: gnu mini
      puppet/network: authconfig authorization client_request format format_handler format_support formats http http_pool
        uri
      puppet/network/http: api connection error handler issues memory_response request response route
      puppet/network/http/api: indirected_routes indirection_type master server
      puppet/network/http/api/master: v3
      puppet/network/http/api/master/v3: environments
      puppet/network/http/api/server: v3
      puppet/network/http/api/server/v3: environments
      puppet/node: environment facts server_facts
      puppet/pal: catalog_compiler compiler function_signature json_catalog_encoder pal_api pal_impl plan_signature
        script_compiler task_signature
      puppet/parameter: boolean package_options path value value_collection
      puppet/parser: abstract_compiler ast catalog_compiler compiler e4_parser_adapter files functions parser_factory
        relationship resource scope script_compiler templatewrapper type_loader
      puppet/parser/ast: block_expression branch hostclass leaf node pops_bridge resource resource_instance resourceparam
        top_level_construct
      puppet/parser/compiler: catalog_validator
      puppet/parser/compiler/catalog_validator: relationship_validator
      puppet/parser/functions: assert_type binary_file break contain create_resources defined dig digest each epp fail
        file filter find_file fqdn_rand generate hiera hiera_array hiera_hash hiera_include include inline_epp
        inline_template lest lookup map match md5 new next realize reduce regsubst require return reverse_each scanf sha1
        sha256 shellquote slice split sprintf step strftime tag tagged template then type versioncmp with
      puppet/parser/resource: param
      puppet/plugins: configuration syntax_checkers
      puppet/pops: adaptable adapters issue_reporter issues label_provider loaders lookup merge_strategy patterns pcore pn
        puppet_stack semantic_error serialization utils validation visitable visitor
      puppet/pops/evaluator: access_operator callable_signature closure collector_transformer compare_operator
        deferred_resolver epp_evaluator evaluator_impl external_syntax_support json_strict_literal_evaluator
        literal_evaluator puppet_proc relationship_operator runtime3_converter runtime3_resource_support runtime3_support
      puppet/pops/evaluator/collectors: abstract_collector catalog_collector exported_collector fixed_set_collector
      puppet/pops/functions: dispatch dispatcher function
      puppet/pops/loader: base_loader dependency_loader gem_support generic_plan_instantiator loader loader_paths
        module_loaders predefined_loader puppet_function_instantiator puppet_plan_instantiator
        puppet_resource_type_impl_instantiator ruby_data_type_instantiator ruby_function_instantiator
        ruby_legacy_function_instantiator runtime3_type_loader simple_environment_loader static_loader task_instantiator
        type_definition_instantiator typed_name uri_helper
      puppet/pops/lookup: configured_data_provider context data_adapter data_dig_function_provider
        data_hash_function_provider data_provider environment_data_provider explainer function_provider
        global_data_provider hiera_config interpolation invocation key_recorder location_resolver lookup_adapter
        lookup_key lookup_key_function_provider module_data_provider sub_lookup
      puppet/pops/migration: migration_checker
      puppet/pops/model: ast ast_transformer factory model_label_provider model_tree_dumper pn_transformer tree_dumper
      puppet/pops/parser: code_merger eparser epp_parser epp_support evaluating_parser heredoc_support
        interpolation_support lexer2 lexer_support locatable locator parser_support pn_parser slurp_support
      puppet/pops/resource: param resource_type_impl
      puppet/pops/serialization: abstract_reader abstract_writer deserializer extension from_data_converter
        instance_reader instance_writer json json_path object serializer time_factory to_data_converter
        to_stringified_converter
      puppet/pops/time: timespan timestamp
      puppet/pops/types: annotatable annotation class_loader implementation_registry iterable p_binary_type p_init_type
        p_meta_type p_object_type p_object_type_extension p_runtime_type p_sem_ver_range_type p_sem_ver_type
        p_sensitive_type p_timespan_type p_timestamp_type p_type_set_type p_uri_type puppet_object recursion_guard
        ruby_generator ruby_method string_converter tree_iterators type_acceptor type_asserter type_assertion_error
        type_calculator type_conversion_error type_factory type_formatter type_mismatch_describer type_parser
        type_set_reference type_with_members types
      puppet/pops/validation: checker4_0 tasks_checker validator_factory_4_0
      puppet/property: boolean ensure keyvalue list ordered_list
      puppet/provider: aix_object command confine exec ldap nameservice network_device package package_targetable
        parsedfile
      puppet/provider/exec: posix shell windows
      puppet/provider/file: posix windows
      puppet/provider/group: aix directoryservice groupadd ldap pw windows_adsi
      puppet/provider/nameservice: directoryservice objectadd pw
      puppet/provider/package: aix appdmg apple apt aptitude aptrpm blastwave dnf dnfmodule dpkg fink freebsd gem hpux
        macports nim openbsd opkg pacman pip pip2 pip3 pkg pkgdmg pkgin pkgng pkgutil portage ports portupgrade puppet_gem
        puppetserver_gem rpm rug sun sunfreeware tdnf up2date urpmi windows xbps yum zypper
      puppet/provider/package/windows: exe_package msi_package package
      puppet/provider/service: base bsd daemontools debian freebsd gentoo init launchd openbsd openrc openwrt rcng redhat
        runit service smf src systemd upstart windows
      puppet/provider/user: aix directoryservice hpux ldap openbsd pw user_role_add useradd windows_adsi
      puppet/reference: configuration function indirection metaparameter providers report type
      puppet/reports: http log store
      puppet/resource: catalog status type type_collection
      puppet/scheduler: job scheduler splay_job timer
      puppet/settings: alias_setting array_setting autosign_setting base_setting boolean_setting
        certificate_revocation_setting config_file directory_setting duration_setting enum_setting environment_conf errors
        file_or_directory_setting file_setting http_extra_headers_setting ini_file integer_setting path_setting
        port_setting priority_setting server_list_setting string_setting symbolic_enum_setting terminus_setting
        ttl_setting value_translator
      puppet/ssl: base certificate certificate_request certificate_request_attributes certificate_signer digest error oids
        openssl_loader ssl_context ssl_provider state_machine verifier
      puppet/syntax_checkers: base64 epp json pp
      puppet/test: test_helper
      puppet/transaction: additional_resource_generator event event_manager persistence report resource_harness
      puppet/type: component exec file filebucket group notify package resources schedule service stage tidy user whit
      puppet/type/file: checksum checksum_value content ctime data_sync ensure group mode mtime owner selcontext source
        target type
      puppet/util: at_fork autoload backups character_encoding checksums classgen colors command_line constant_inflector
        diff docs errors execution execution_stub feature file_watcher fileparsing filetype http_proxy inifile
        instance_loader json json_lockfile ldap libuser limits lockfile log logging metaid metric monkey_patches
        multi_match network_device package pidlock platform plist posix profiler provider_features psych_support rdoc
        reference resource_template retry_action rpm_compare rubygems run_mode selinux skip_tags splayer storage
        suidmanager symbolic_file_mode tag_set tagging terminal user_attr warnings watched_file watcher windows yaml
      puppet/util/at_fork: noop solaris
      puppet/util/command_line: puppet_option_parser trollop
      puppet/util/ldap: connection generator manager
      puppet/util/log: destination destinations
      puppet/util/network_device: base config transport
      puppet/util/network_device/transport: base
      puppet/util/package/version: debian gem pip range rpm
      puppet/util/package/version/range: eq gt gt_eq lt lt_eq min_max simple
      puppet/util/profiler: aggregate around_profiler logging object_counts wall_clock
      puppet/util/rdoc: code_objects parser
      puppet/util/rdoc/generators: puppet_generator
      puppet/util/rdoc/generators/template/puppet: puppet
      puppet/util/rdoc/parser: puppet_parser_core puppet_parser_rdoc2
      puppet/util/watcher: change_watcher periodic_watcher timer
      puppet/util/windows: access_control_entry access_control_list adsi com daemon error eventlog file principal process
        registry root_certs security security_descriptor service sid string user
      puppet/util/windows/monkey_patches: process
      puppet/x509: cert_provider pem_store
    TEXT

    # Folders in which every name counts as Puppet's or Facter's own.
    WHOLE = %r{\A(?:facter/(?:facts|resolvers)/|puppet/vendor/|puppet/resource_api)}

    def self.include?(name) = WHOLE.match?(name) || names.include?(name)

    def self.names
      @names ||= LIST.gsub("\n  ", ' ').lines.each_with_object({}) do |line, all|
        folder, files = line.split(': ', 2)
        files.split.each { |file| all["#{folder}/#{file}"] = true }
      end
    end
  end
end
