import type { SettingsProblem } from '../../config/problem.ts'
import type { ProviderConfigInput } from '../config/provider-config-input.ts'
import type { Credentials } from '../provider.ts'
import { createCredentials } from './access-token.ts'
import { readServiceAccount } from './service-account.ts'

/** What the settings of a project in Google Cloud say in place of an address and a key. */
export type Cloud = {
  readonly baseUrl?: string
  readonly credentials?: Credentials
  readonly problems: readonly SettingsProblem[]
}

/**
 * The address by `project` and `location`, and the access tokens by the file that `credentials` names, where
 * no header carries a key.
 */
export function configureCloud(place: ProviderConfigInput, byHeader: boolean): Cloud {
  const { credentials, problems } = byHeader ? { problems: [] } : configureCredentials(place)
  return { baseUrl: addressOf(place), credentials, problems: [...wordProblems(place), ...problems] }
}

function addressOf({ entry: { project, location } }: ProviderConfigInput): string | undefined {
  if (project === undefined || location === undefined) return undefined
  return `https://${hostOf(location)}/v1/projects/${project}/locations/${location}`
}

/** A region has a host of its own; the whole world and groups of regions go by other names. */
function hostOf(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com'
  if (location === 'eu' || location === 'us') return `aiplatform.${location}.rep.googleapis.com`
  return `${location}-aiplatform.googleapis.com`
}

/** Both become parts of an address. */
function wordProblems({ entry: { project, location }, path }: ProviderConfigInput): SettingsProblem[] {
  const problems: SettingsProblem[] = []
  if (project !== undefined && !/^[a-z0-9][a-z0-9.:-]*$/.test(project))
    problems.push({
      path: `${path}.project`,
      message: 'must be the id of a project, such as my-project-123.',
    })
  if (location !== undefined && !/^[a-z0-9-]+$/.test(location))
    problems.push({ path: `${path}.location`, message: 'must be a location such as europe-west4 or global.' })
  return problems
}

/** A key of its own goes before the file; the variable is where Google's programs look for one. */
function configureCredentials({ name, entry, path, environment }: ProviderConfigInput): Cloud {
  const file = entry.credentials ?? environment.GOOGLE_APPLICATION_CREDENTIALS
  if (entry.api_key !== undefined && entry.credentials !== undefined)
    return {
      problems: [{ path: `${path}.credentials`, message: 'is given beside api_key; remove one of the two.' }],
    }
  if (!file || entry.api_key !== undefined) return { problems: [] }
  const account = readServiceAccount(file)
  if (typeof account !== 'string') return { credentials: createCredentials(account, name), problems: [] }
  const where = entry.credentials === undefined ? 'GOOGLE_APPLICATION_CREDENTIALS' : `${path}.credentials`
  return { problems: [{ path: where, message: account }] }
}
