// Writes test/fixtures/agents from what the installed programs send: bun test/tools/record.ts
import { agentFixturePath, agentNames } from '../support/agent-fixture.ts'
import { recordAgent } from './support/record-agent.ts'

for (const name of agentNames) {
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
