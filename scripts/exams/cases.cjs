// Run the cases of one stranger in Node and print what became of each, one JSON object a line.
// The brother of cases.py: a case passes, fails, or does not apply with the reason.

const LIMIT_MS = 60_000;

class NotApplicable extends Error {}

function must(value, what) {
  if (!value) throw new Error(what);
}

function equal(found, wanted) {
  must(JSON.stringify(found) === JSON.stringify(wanted), `${JSON.stringify(found)}`.slice(0, 200));
}

async function fails(work, pattern) {
  let message = null;
  try {
    await work();
  } catch (error) {
    message = String(error.message);
  }
  must(message !== null, "it did not fail");
  must(pattern.test(message), message);
}

async function run(cases) {
  for (const [name, work] of Object.entries(cases)) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error("the case took longer than 60 s")), LIMIT_MS);
    });
    let outcome = "passed";
    let reason = "";
    try {
      await Promise.race([work(), late]);
    } catch (error) {
      outcome = error instanceof NotApplicable ? "not applicable" : "failed";
      reason = String(error.message).slice(0, 300);
    } finally {
      clearTimeout(timer);
    }
    process.stdout.write(JSON.stringify({ case: name, outcome, reason }) + "\n");
  }
  process.exit(0);
}

module.exports = { NotApplicable, must, equal, fails, run };
