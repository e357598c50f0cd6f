import { sharedPostgres, testsUsePostgres } from './postgres/server.ts'

/** Variables that are meant for the tests, besides those whose names begin with `WEIR_TEST_`. */
const kept = ['WEIR_TOOLS', 'WEIR_SCREENSHOTS']

// Loaded before every test file: a developer's own keys and settings must not change what a test sees.
for (const name of Object.keys(process.env)) {
  const isSetting = name.startsWith('WEIR_') && !name.startsWith('WEIR_TEST_') && !kept.includes(name)
  if (name.endsWith('_API_KEY') || name === 'HF_TOKEN' || isSetting) delete process.env[name]
}

// The gate sets it for the tests alone: what they start gives its memory back, as everywhere.
delete process.env.MIMALLOC_PURGE_DELAY

// Elysia asks for a collection of all garbage whenever it composes an app, once for a server: for the thousands of apps of the
// tests, whose processes have large heaps, that takes a tenth of the processor time.
const { gc } = Bun
Bun.gc = (force) => (force ? gc(force) : 0)

// Bun kills the processes that were started during a test when it times out: the server of all tests must not be one of them.
if (testsUsePostgres) await sharedPostgres()
