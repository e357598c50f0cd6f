// Loaded before every test file: a developer's own keys and settings must not change what a test sees.
for (const name of Object.keys(process.env)) {
  if (name.endsWith('_API_KEY') || name === 'HF_TOKEN' || name.startsWith('WEIR_')) delete process.env[name]
}
