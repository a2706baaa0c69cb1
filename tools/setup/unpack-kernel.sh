# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts that unpack a Debian kernel into a folder of the cache without installing
# it: an apt with its own lists, the download, and headers that work where they lie.
# shellcheck shell=sh
# The including script defines die() and sets $dir, the absolute path of the folder.

# shellcheck disable=SC2154 # $dir
apt=$dir/apt

# read_packages NAME [OPTIONS]: read the package lists into $apt, with more lines for apt.conf.
# NAME is for the error message. The system's lists and its cache of packages do not change.
read_packages()
{
	mkdir -p "$apt/lists/partial" "$apt/archives/partial"
	cat >"$apt/apt.conf" <<-END
	Dir::State::Lists "$apt/lists";
	Dir::Cache "$apt";
	Acquire::Languages "none";
	APT::Sandbox::User "";
	${2:-}
	END
	export APT_CONFIG="$apt/apt.conf"
	apt-get -q update >"$apt/log" 2>&1 ||
		{ tail -3 "$apt/log" >&2; die "cannot read the packages of $1"; }
}

# download PACKAGE...: fetch the packages into $apt/archives
download()
{
	(cd "$apt/archives" && apt-get -q download "$@" >>"$apt/log" 2>&1) ||
		{ tail -3 "$apt/log" >&2; die "cannot download $*"; }
}

# unpack_kernel VERSION: unpack what was downloaded, then write the file `version`, which says
# that $dir is complete
unpack_kernel()
{
	for deb in "$apt"/archives/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	# Debian 13's packages have no /lib, which is a link there.
	[ -e "$dir/lib" ] || [ ! -e "$dir/usr/lib" ] || ln -s usr/lib "$dir/lib"
	relocate_headers "$dir/usr/src/linux-headers-$1"
	# Headers without an image have no modules to list.
	[ ! -d "$dir/lib/modules/$1/kernel" ] ||
		PATH=$PATH:/usr/sbin:/sbin depmod -b "$dir" "$1"
	rm -rf "$apt"
	echo "$1" >"$dir/version.new"
	mv "$dir/version.new" "$dir/version"
}

# relocate_headers HEADERS: Debian's packages of headers name each other by absolute paths
relocate_headers()
{
	grep -rlI --include='Makefile*' --include='*.mk' /usr/src/linux-headers "$1" |
		xargs -r sed -i "s,/usr/src/linux-headers,$dir/usr/src/linux-headers,g"
	for folder in "$dir/usr" "$dir/lib/"; do
		[ ! -d "$folder" ] || find "$folder" -type l -lname '/usr/*'
	done | while read -r link; do
		ln -sfn "$dir$(readlink "$link")" "$link"
	done
}
