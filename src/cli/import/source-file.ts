import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { fileErrorReason } from '../../config/file-problems.ts'
import { problemLine } from '../../config/problem.ts'
import { maxYamlBytes, parseYaml } from '../../config/yaml.ts'
import { CommandError } from '../errors.ts'

/** A parsed file of another program. */
export type Source = {
  readonly config: unknown
  /** The paths of the keys that occur twice; each has its last value. */
  readonly duplicates: readonly string[]
}

/** The list of 5,000 keys has a tenth of it. */
const maxJsonBytes = 64 * 1024 * 1024

/** Reads and parses a YAML file. Throws `CommandError` with a sentence that names the file. */
export function readYamlFile(file: string): Source {
  const text = readText(file, maxYamlBytes, 'has more than 1 MiB, which no configuration has')
  const { value, problems, duplicates } = parseYaml(text)
  const [problem] = problems
  if (problem !== undefined) throw new CommandError(`${file} cannot be read: ${problemLine(problem)}`)
  return { config: value, duplicates: duplicates.map(({ path }) => path) }
}

/** Reads and parses a JSON file. Throws `CommandError` with a sentence that names the file, and nothing of its content. */
export function readJsonFile(file: string): unknown {
  const text = readText(file, maxJsonBytes, 'has more than 64 MiB')
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandError(`${file} is not valid JSON.`)
  }
}

function readText(file: string, maxBytes: number, tooLarge: string): string {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
    const status = fstatSync(descriptor)
    if (status.isFile() && status.size > maxBytes) throw new CommandError(`${file} ${tooLarge}.`)
    if (!status.isFile()) throw new CommandError(`${file} is not a file.`)
    return readFileSync(descriptor, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${file} cannot be read: ${fileErrorReason(error)}.`)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
