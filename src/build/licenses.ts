import { join } from 'node:path'
import { bundle } from './compile.ts'
import { install, projectFolder } from './install.ts'
import { licenseFiles } from './licenses/files.ts'
import { collectThirdParty } from './licenses/third-party.ts'

if (!(await install())) process.exit(1)
const thirdParty = await collectThirdParty(await bundle(join(projectFolder, 'src/main.ts')))
for (const { path, text } of licenseFiles(thirdParty)) {
  await Bun.write(join(projectFolder, path), text)
  console.log(`${path} lists ${thirdParty.components.length} components.`)
}
