import { code } from './page.ts'
import { describeSchema, exampleYaml } from '../../config/check-schema.ts'
import { type Fields, fieldsOf, isObject, listOf, textOf } from '../../lib/json/json.ts'

/** A setting of the reference. */
export type SettingRow = {
  /** As in a message of `weir check`, such as `models[].slug`. */
  readonly path: string
  readonly description: string
  /** Which values it takes. */
  readonly value: string
  /** As in the file; undefined if it has none. */
  readonly default: unknown
  readonly example: string
  readonly required: boolean
}

type Place = { readonly path: string; readonly defaults: unknown; readonly required: boolean }

/** Returns the settings of a schema: the setting itself if it has a value, and those within it. */
export function settingRows(schema: Fields, place: Place): readonly SettingRow[] {
  const rows = new Map<string, SettingRow>()
  for (const row of rowsOf(schema, place)) {
    const earlier = rows.get(row.path)
    rows.set(row.path, earlier === undefined ? row : mergedRow(earlier, row))
  }
  return withoutRepetitions([...rows.values()])
}

/** An object that occurs a second time, such as prices, refers to the first and repeats none of its settings. */
function withoutRepetitions(rows: readonly SettingRow[]): readonly SettingRow[] {
  const objects = rows.filter(({ value }) => value === 'an object')
  const firstOf = ({ path }: SettingRow) => objects.find((row) => lastName(row.path) === lastName(path))
  const repeated = objects.filter((row) => firstOf(row) !== row)
  return rows
    .filter(({ path }) => !repeated.some((object) => path.startsWith(`${object.path}.`)))
    .map((row) =>
      repeated.includes(row) ? { ...row, value: `like ${code(firstOf(row)?.path ?? '')}` } : row,
    )
}

/** Returns the name of a setting without the path before it. */
export function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

/** The forms of an object share settings: one row has the values of all. */
function mergedRow(earlier: SettingRow, row: SettingRow): SettingRow {
  return {
    ...earlier,
    value: earlier.value === row.value ? row.value : `${earlier.value} or ${row.value}`,
    description:
      earlier.description === row.description
        ? row.description
        : [earlier.description, row.description].join(' '),
  }
}

function rowsOf(schema: Fields, place: Place): readonly SettingRow[] {
  return [rowOf(schema, place), ...nestedRows(schema, place)]
}

function rowOf(schema: Fields, { path, defaults, required }: Place): SettingRow {
  return {
    path,
    description: textOf(schema.description) ?? '',
    value: valueText(schema),
    default: isObject(defaults) ? undefined : defaults,
    example: exampleYaml(schema),
    required,
  }
}

function nestedRows(schema: Fields, { path, defaults }: Place): readonly SettingRow[] {
  if (isObject(schema.properties)) {
    const required = new Set(listOf(schema.required))
    return Object.entries(schema.properties).flatMap(([name, property]) =>
      rowsOf(fieldsOf(property), {
        path: path === '' ? name : `${path}.${name}`,
        defaults: fieldsOf(defaults)[name],
        required: required.has(name),
      }),
    )
  }
  const items = itemsOf(schema)
  if (items !== undefined)
    return nestedRows(items, { path: `${path}${itemMark(schema)}`, defaults, required: false })
  return listOf(schema.anyOf).flatMap((choice) =>
    nestedRows(fieldsOf(choice), { path, defaults, required: false }),
  )
}

/** The schema of the entries of a list or a map. */
function itemsOf(schema: Fields): Fields | undefined {
  if (isObject(schema.items)) return schema.items
  return isObject(schema.patternProperties) ? fieldsOf(Object.values(schema.patternProperties)[0]) : undefined
}

function itemMark(schema: Fields): string {
  return isObject(schema.items) ? '[]' : '.NAME'
}

function valueText(schema: Fields): string {
  const items = itemsOf(schema)
  if (items === undefined) return describeSchema(schema)
  const isList = isObject(schema.items)
  const collection = isList ? 'a list' : 'values by name'
  if (isObject(items.properties)) return collection
  const expected = textOf(items.expected)
  if (expected !== undefined) return `${collection}, each ${expected}`
  const each = Array.isArray(items.enum) ? items.enum.join(', ') : 'strings'
  return isList ? `a list of ${each}` : `${each} by name`
}
