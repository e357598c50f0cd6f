import type { SettingsProblem } from '../../config/problem.ts'
import type { Credentials } from '../provider.ts'
import type { ProviderConfigInput } from './provider-entry.ts'
import { createCredentials, readServiceAccount } from './service-account.ts'

/** The base URL and the credentials of a provider on Google Cloud. */
export type GoogleCloudConfig = {
  readonly baseUrl?: string
  readonly credentials?: Credentials
  readonly problems: readonly SettingsProblem[]
}

/**
 * Configures the base URL by `project` and `location`, and access tokens by the file in `credentials`, unless a header
 * carries the key.
 */
export function configureGoogleCloud(input: ProviderConfigInput, keyInHeader: boolean): GoogleCloudConfig {
  const { credentials, problems } = keyInHeader ? { problems: [] } : configureCredentials(input)
  return { baseUrl: baseUrlOf(input), credentials, problems: [...nameProblems(input), ...problems] }
}

function baseUrlOf({ entry: { project, location } }: ProviderConfigInput): string | undefined {
  if (project === undefined || location === undefined) return undefined
  return `https://${hostOf(location)}/v1/projects/${project}/locations/${location}`
}

/** Each region has its own host; `global` and multi-regions have other host names. */
function hostOf(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com'
  if (location === 'eu' || location === 'us') return `aiplatform.${location}.rep.googleapis.com`
  return `${location}-aiplatform.googleapis.com`
}

/** The problems of `project` and `location`, which become parts of a URL. */
function nameProblems({ entry: { project, location }, path }: ProviderConfigInput): SettingsProblem[] {
  const problems: SettingsProblem[] = []
  if (project !== undefined && !/^[a-z0-9][a-z0-9.:-]*$/.test(project))
    problems.push({ path: `${path}.project`, message: 'must be a project ID such as my-project-123.' })
  if (location !== undefined && !/^[a-z0-9-]+$/.test(location))
    problems.push({ path: `${path}.location`, message: 'must be a location such as europe-west4 or global.' })
  return problems
}

/** `api_key` takes precedence over the file; the variable is the default of Google's own tools. */
function configureCredentials({ name, entry, path, environment }: ProviderConfigInput): GoogleCloudConfig {
  const credentialsPath = `${path}.credentials`
  const file = entry.credentials ?? environment.GOOGLE_APPLICATION_CREDENTIALS
  if (entry.api_key !== undefined && entry.credentials !== undefined)
    return {
      problems: [{ path: credentialsPath, message: 'is set together with api_key. Remove one of the two.' }],
    }
  if (!file || entry.api_key !== undefined) return { problems: [] }
  const account = readServiceAccount(file)
  if (typeof account !== 'string') return { credentials: createCredentials(account, name), problems: [] }
  const source = entry.credentials === undefined ? 'GOOGLE_APPLICATION_CREDENTIALS' : credentialsPath
  return { problems: [{ path: source, message: account }] }
}
