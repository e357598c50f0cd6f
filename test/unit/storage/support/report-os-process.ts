import { ownOsProcess } from '../../../../src/storage/postgres/cluster/os-process.ts'

// Reports the identity of this process, and waits for the end of its parent.
process.stdout.write(ownOsProcess() ?? '')
await Bun.stdin.text()
