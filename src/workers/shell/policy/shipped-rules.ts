/**
 * The shipped rules: refuse every use of the shipped allowlist besides reading.
 *
 * GNU programs take letters together (`-uo`), an option before or after names, and a long option by its prefix. The
 * other programs of the list have no option that writes, starts a program or changes the host.
 */
import type { RuleConfig } from '../config.ts';

/** A name, or standard input. An empty word is a name too. */
const NAME = '|-|[^-].*';

export const SHIPPED_RULES: RuleConfig[] = [
  {
    program: 'sort',
    // Letters that take no value may come before; `-t`, `-k`, `-S` and `-T` take the rest as their value.
    args: ['...', '-[bcCdfghimMnRrsuVz]*o.*|--(o|co).*', '...'],
    decision: 'deny',
    reason: 'sort may not write files (-o) or start programs (--compress-program)',
    match: [
      ...['sort -o out in', 'sort -uoout in', 'sort in -o out', 'sort --output=out in', 'sort --o out in'],
      ...['sort --compress-program=./x in', 'sort --comp ./x in', 'sort -S 1 --co=./x in'],
    ],
    not_match: ['sort in', 'sort -u -k2,2n in', 'sort -to in', 'sort --check in', 'sort -rn -- in'],
  },
  {
    program: 'uniq',
    args: ['...', NAME, '...', NAME, '...'],
    decision: 'deny',
    reason: 'uniq may not write its second operand; join a number to its option, as in -f1',
    match: ['uniq in out', 'uniq - out', 'uniq -c in out', 'uniq in -c out', 'uniq 1 out'],
    not_match: ['uniq', 'uniq in', 'uniq -c in', 'uniq -f1 -w10 in', 'uniq --skip-fields=1 in'],
  },
  {
    program: 'uniq',
    args: ['...', '--', '...'],
    decision: 'deny',
    reason: 'uniq may not write its second operand; give a name that begins with - as ./-name',
    match: ['uniq -- -in -out', 'uniq in -- -out'],
    not_match: ['uniq ./-in', 'uniq --count in'],
  },
  {
    program: 'date',
    args: ['...', '-[uR]*s.*|--s.*', '...'],
    decision: 'deny',
    reason: 'date may not set the clock',
    match: ['date -s now', 'date -us now', 'date --set=now', 'date --se now'],
    not_match: ['date', 'date -u', 'date -Is', 'date -Iseconds', 'date +%s', 'date -d now +%s', 'date --utc'],
  },
  {
    program: 'date',
    // MMDDhhmm, with a year and seconds. Allowed only as the value of -d, -f or -r.
    args: [String.raw`\d{8}(\d{2}){0,2}(\.\d{2})?`, '...'],
    decision: 'deny',
    reason: 'date may not set the clock',
    match: ['date 01021530', 'date 010215302026.59', 'date 0102153026 -u'],
    not_match: ['date +%Y', 'date -d 20260102'],
  },
  {
    program: 'date',
    args: ['...', '--|[^-].*|-[uRI].*|--(u|rf|iso|deb|res).*|--.*=.*', String.raw`\d{8}(\d{2}){0,2}(\.\d{2})?`, '...'],
    decision: 'deny',
    reason: 'date may not set the clock',
    match: ['date -u 01021530', 'date -- 01021530', 'date --date=now 01021530', 'date -d now 01021530'],
    not_match: ['date -d 20260102', 'date --date 20260102', 'date -u +%s'],
  },
  {
    program: 'hostname',
    args: ['...', `${NAME}|--|-[a-zA-Z]*[bF].*|--(b|fi).*`, '...'],
    decision: 'deny',
    reason: 'hostname may not set the name of the host',
    match: [
      'hostname evil',
      'hostname -b evil',
      'hostname -F file',
      'hostname -bFfile',
      'hostname --file=file',
      'hostname -- x',
    ],
    not_match: ['hostname', 'hostname -f', 'hostname -I', 'hostname --fqdn', 'hostname --ip-address'],
  },
];
