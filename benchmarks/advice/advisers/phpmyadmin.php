<?php
// phpMyAdmin's own Advisor, over what a server was asked elsewhere: php phpmyadmin.php LIBRARIES PHPMYADMIN FACTS
//
// FACTS is a JSON object: version (a number as phpMyAdmin has it), is_mariadb, status and variables. What the Advisor says is written to
// standard output as JSON. Nothing here connects to anything.

declare(strict_types=1);

use PhpMyAdmin\Advisor;
use PhpMyAdmin\DatabaseInterface;
use Symfony\Component\ExpressionLanguage\ExpressionLanguage;

[, $libraries, $phpmyadmin, $facts] = $argv;
define('ROOT_PATH', $phpmyadmin . '/');
// Unused variables of rules for other servers are notices, which would stand among the JSON.
error_reporting(E_ERROR | E_PARSE);
ini_set('display_errors', 'stderr');

// Its texts as they are in its source: English.
function __(string $text): string
{
    return $text;
}

function _pgettext(string $context, string $text): string
{
    return $text;
}

spl_autoload_register(static function (string $class) use ($libraries, $phpmyadmin): void {
    $path = str_replace('\\', '/', $class) . '.php';
    $own = 'PhpMyAdmin/';
    $file = str_starts_with($path, $own) ? "$phpmyadmin/libraries/classes/" . substr($path, strlen($own)) : "$libraries/$path";
    if (is_file($file)) {
        require $file;
    }
});

final class Recorded extends DatabaseInterface
{
    private array $facts;

    public function __construct(array $facts)
    {
        $this->facts = $facts;
    }

    public function fetchResult(string $query, $key = null, $value = null, $link = self::CONNECT_USER, int $options = 0): array
    {
        return $this->facts[str_contains($query, 'STATUS') ? 'status' : 'variables'];
    }

    public function getVersion(): int
    {
        return $this->facts['version'];
    }

    public function isMariaDB(): bool
    {
        return $this->facts['is_mariadb'];
    }
}

// What its links are made with: there is no session here, and nobody follows them.
$GLOBALS['server'] = 1;
$GLOBALS['lang'] = '';
$GLOBALS['config'] = new class {
    public function get(string $setting): bool
    {
        return false;
    }

    public function getCookie(string $name): ?string
    {
        return null;
    }
};
$read = json_decode(file_get_contents($facts), true, 8, JSON_THROW_ON_ERROR);
$advisor = new Advisor(new Recorded($read), new ExpressionLanguage());
echo json_encode($advisor->run(), JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE), "\n";
