import { isObject } from '../lib/json/json.ts'
import { problemPath } from './problem-path.ts'
import type { SettingsProblem } from './problem.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The value with `${NAME}` in each of its strings taken from the environment; `$${` stands for `${`. A
 * variable that is not set is a problem that names it, never its neighbours in the string. `$NAME` is left as it is,
 * with a warning.
 */
export function interpolate(
  value: unknown,
  environment: Environment,
  problems: SettingsProblem[],
  warnings: SettingsProblem[] = [],
): unknown {
  function visit(value: unknown, path: string): unknown {
    if (typeof value === 'string') {
      const warning = braceless(value, environment)
      if (warning !== undefined) warnings.push({ path, message: warning })
      return fill(value, environment, path, problems)
    }
    if (Array.isArray(value)) return value.map((item, index) => visit(item, problemPath(path, index)))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, visit(item, problemPath(path, name))]),
    )
  }
  return visit(value, '')
}

function fill(text: string, environment: Environment, path: string, problems: SettingsProblem[]): string {
  return text.replace(/\$(\$?)\{([^}]*)\}?/g, (all, escape: string, name: string) => {
    if (escape !== '') return all.slice(1)
    const value = /^[A-Za-z_]\w*$/.test(name) && all.endsWith('}') ? environment[name] : undefined
    if (value) return value
    problems.push({ path, message: complaintOf(name, all) })
    return all
  })
}

/**
 * A warning where the text has a `$NAME` that was probably meant to be `${NAME}`. It shows the name where that is all of
 * the text or a variable that is set: anything else may be a part of a key.
 */
function braceless(text: string, environment: Environment): string | undefined {
  const [, whole] = /^\$([A-Za-z_]\w*)$/.exec(text) ?? []
  const [, part] = /(?:^|[\s:/@=])\$([A-Z][A-Z0-9_]+)\b/.exec(text) ?? []
  if (whole === undefined && part === undefined) return undefined
  const name = whole ?? (part !== undefined && environment[part] !== undefined ? part : 'NAME')
  return `holds a $ before a name without braces, which is taken as it is; write \${${name}} to use a variable.`
}

function complaintOf(name: string, all: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name) || !all.endsWith('}'))
    return 'holds a ${…} that is no name of a variable; write ${NAME}, or $${ for a plain ${.'
  return `takes its value from the environment variable ${name}, which is not set; set ${name}.`
}
