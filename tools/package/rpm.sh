# An RPM package of the portable program, for EL 8 to 10, SLES 15 and Fedora. Sourced by script/package.
# shellcheck shell=bash
. tools/package/portable.sh

make_rpm() {
    local root=$work/rpm payload=w6.xzdio name made
    [ -z "$fast" ] || payload=w1.gzdio
    install_portable "$root" /usr
    find "$root/usr/share/man" -type f -exec gzip -9n {} +
    # Uses the folders of Red Hat and SUSE.
    install -d "$root/usr/share/licenses/bunraku" "$root/usr/share/zsh" "$root/etc/sysconfig"
    mv "$root/usr/share/doc/bunraku/LICENSE" "$root/usr/share/licenses/bunraku/"
    mv "$root/usr/share/zsh/vendor-completions" "$root/usr/share/zsh/site-functions"
    for name in bunraku-server bunraku-agent; do
        install -m 0644 "share/debian/$name.default" "$root/etc/sysconfig/$name"
    done
    sed -i 's#/etc/default/#/etc/sysconfig/#' "$root"/usr/lib/systemd/system/*.service
    sed -i "s/Debian's layout/Puppet's layout/" "$root/usr/share/bunraku/puppet.conf"
    set_times "$root"
    # The macros are those of Debian's rpmbuild. None of them may lead to a path or time of the build.
    rpmbuild -bb --quiet --target "$(portable_machine)" \
        --define "_topdir $work/rpmbuild" --define "_rpmdir $work/rpms" --define "_tmppath $work" \
        --define "_dbpath $work/rpmdb" --define "_buildhost localhost" \
        --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" \
        --define "_binary_payload $payload" --define "_build_id_links none" --define "debug_package %{nil}" \
        --define "__os_install_post %{nil}" --define "_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
        --define "bunraku_version $version" --define "bunraku_files $root" --define "bunraku_scripts $PWD/share/rpm" \
        share/rpm/bunraku.spec >"$work/rpmbuild.log" 2>&1 || { cat "$work/rpmbuild.log" >&2; return 1; }
    made=$(echo "$work"/rpms/*.rpm)
    mv "$made" "$folder/"
    echo "$folder/${made##*/}"
}
