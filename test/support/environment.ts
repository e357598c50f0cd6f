import { setDefaultTimeout } from 'bun:test'

// Bun does not read a timeout from bunfig.toml. A busy machine takes several times as long as an idle one.
setDefaultTimeout(30_000)

// Loaded before every test file: a developer's own keys and settings must not change what a test sees.
for (const name of Object.keys(process.env)) {
  if (name.endsWith('_API_KEY') || name === 'HF_TOKEN' || name.startsWith('WEIR_')) delete process.env[name]
}
