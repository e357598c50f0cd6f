// Writes test/fixtures/agents from what the installed programs send: bun test/tools/record.ts [NAME…]
import { agentFixturePath, agentNames } from '../support/agent-fixture.ts'
import { recordAgent } from './support/record-agent.ts'

const chosen = process.argv.slice(2)
for (const name of agentNames.filter((name) => chosen.length === 0 || chosen.includes(name))) {
  const fixture = await recordAgent(name)
  const path = agentFixturePath(name)
  if (fixture === undefined) {
    console.log(`${name} is not installed.`)
    continue
  }
  await Bun.write(path, `${JSON.stringify(fixture, null, 2)}\n`)
  await Bun.$`${process.execPath} fmt --no-script ${path}`.quiet()
  console.log(`${name} ${fixture.version}: ${path}`)
}
