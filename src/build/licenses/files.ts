import { join } from 'node:path'
import type { ThirdParty } from '../../cli/licenses/third-party.ts'
import { projectFolder } from '../install.ts'
import { formatNotice } from './notice.ts'
import { formatThirdParty } from './third-party.ts'

/** A file that is generated from the components of the bundle. */
export type GeneratedFile = { readonly path: string; readonly text: string }

/** Returns what the generated files about licences must contain. */
export function licenseFiles(thirdParty: ThirdParty): readonly GeneratedFile[] {
  return [
    { path: 'src/cli/licenses/third-party.json', text: formatThirdParty(thirdParty) },
    { path: 'NOTICE', text: formatNotice(thirdParty) },
  ]
}

/** Throws if a generated file is out of date: an executable must name what it contains. */
export async function assertLicenseFiles(thirdParty: ThirdParty): Promise<void> {
  for (const { path, text } of licenseFiles(thirdParty)) {
    if ((await Bun.file(join(projectFolder, path)).text()) !== text)
      throw new Error(`${path} is out of date: the bundle has other components. Run “bun run licenses”.`)
  }
}
