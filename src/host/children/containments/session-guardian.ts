/**
 * The guardian's script where only sessions contain jobs: `processes.ts` as a shell script.
 *
 * $last_line has the leaders of the sessions, $1 the file of /proc that shows the mark and $2 the mark's pattern.
 * Without /proc it reaches only the groups of the leaders.
 */
import { GUARDIAN_SCANS } from './guardian.ts';

export const sessionGuardianScript = `
  file=$1 mark=$2 members=" $last_line " quiet=0
  for leader in $last_line; do kill -9 "-$leader"; done
  [ -d /proc/self ] || exit 0
  for scan in ${GUARDIAN_SCANS}; do
    found=
    [ -z "$file" ] || for path in $(grep -lsE "$mark" /proc/[0-9]*/"$file"); do
      path=\${path#/proc/}
      members="$members\${path%%/*} "
    done
    for path in /proc/[0-9]*/stat; do
      read -r line < "$path" || continue
      pid=\${line%% *}
      set -- \${line##*) }
      [ "$1" != Z ] || [ "\${18:-0}" -gt 1 ] || continue
      case $members in
        *" $pid "* | *" $2 "* | *" $3 "* | *" $4 "*)
          kill -9 "$pid" && found=1
          members="$members$pid " ;;
      esac
    done
    if [ -n "$found" ]; then quiet=0; else quiet=$((quiet + 1)); fi
    [ "$quiet" -lt 2 ] || exit 0
    sleep 0.05
  done`;
