import { takesEffectAtStart } from '../../cli/serve/reload.ts'
import { defaultProviderSettings, defaultSettings } from '../../config/defaults.ts'
import { SettingsFile } from '../../config/settings.ts'
import { fieldsOf, textOf } from '../../lib/json/json.ts'
import { exampleFile } from './example-file.ts'
import { code, type Column, fenced, markdownTable, type Page, wrapped } from './page.ts'
import { kindVariableTable } from './providers-page.ts'
import { lastName, type SettingRow, settingRows } from './setting-rows.ts'

/** The reference of the settings. */
export const configurationPage: Page = {
  path: 'docs/configuration.md',
  regions: () => ({
    'example-file': fenced('yaml', exampleFile()),
    settings: Object.keys(SettingsFile.properties).map(settingSection).join('\n\n'),
    'provider-variables': kindVariableTable(),
  }),
}

function settingSection(name: string): string {
  const schema = fieldsOf(fieldsOf(SettingsFile.properties)[name])
  const rows = settingRows(schema, { path: name, defaults: defaultsOf(name), required: false })
  const [, ...nested] = rows
  return [
    `### ${code(name)}`,
    wrapped(textOf(schema.description) ?? ''),
    ...(takesEffectAtStart(name) ? ['A change takes effect at the next start.'] : []),
    // The section has the meaning of a setting without nested ones.
    nested.length > 0 ? settingTable(nested, [meaning]) : settingTable(rows, []),
  ].join('\n\n')
}

const meaning: Column<SettingRow> = { title: 'Meaning', cell: ({ description }) => description }

function defaultsOf(name: string): unknown {
  return name === 'providers' ? defaultProviderSettings : fieldsOf(defaultSettings)[name]
}

function settingTable(rows: readonly SettingRow[], middle: readonly Column<SettingRow>[]): string {
  return markdownTable(rows, [
    { title: 'Setting', cell: ({ path }) => code(path) },
    { title: 'Value', cell: ({ value }) => value },
    { title: 'Default', cell: defaultText },
    ...middle,
    { title: 'Example', cell: ({ path, example }) => code(`${lastName(path)}: ${example}`) },
  ])
}

function defaultText({ required, default: value }: SettingRow): string {
  if (required) return 'required'
  return value === undefined ? '–' : code(String(value))
}
