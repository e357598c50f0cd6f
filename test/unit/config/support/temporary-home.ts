import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type LoadedSettings, loadSettings } from '../../../../src/config/load.ts'
import type { SettingsInput } from '../../../../src/config/paths.ts'
import { SettingsError, type SettingsProblem } from '../../../../src/config/problem.ts'

/** A temporary home with the given files; it is removed at the end of the scope. */
export function temporaryHome(files: Readonly<Record<string, string>> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'weir-config-'))
  const place = (path: string) => join(root, path)
  mkdirSync(place('work'))
  mkdirSync(place('home'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(place(path)), { recursive: true })
    writeFileSync(place(path), text)
  }
  return {
    place,
    load: (input: Partial<SettingsInput> = {}): LoadedSettings =>
      loadSettings({ flags: {}, environment: {}, cwd: place('work'), home: place('home'), ...input }),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** What loading this weir.yaml complains of, and the whole message. */
export function problemsOf(yaml: string, environment: SettingsInput['environment'] = {}) {
  using home = temporaryHome({ 'work/weir.yaml': yaml })
  try {
    home.load({ environment })
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    return { problems: error.problems.map(line), message: error.message }
  }
  return { problems: [], message: '' }
}

function line({ path, message }: SettingsProblem): string {
  return `${path} | ${message}`
}
